// Small pieces of WebGL2: programs, buffers of triangles, and many copies of a shape in one call.
const gpu = (() => {
  const FLOATS = 16; // of an instance: three rows of its matrix and its colour

  const compiled = (gl, kind, source) => {
    const shader = gl.createShader(kind);
    gl.shaderSource(shader, source);
    gl.compileShader(shader);
    return shader;
  };
  const program = (gl, vertex, fragment) => {
    const made = gl.createProgram();
    gl.attachShader(made, compiled(gl, gl.VERTEX_SHADER, vertex));
    gl.attachShader(made, compiled(gl, gl.FRAGMENT_SHADER, fragment));
    gl.linkProgram(made);
    if (!gl.getProgramParameter(made, gl.LINK_STATUS) && !gl.isContextLost()) {
      const logs = gl.getAttachedShaders(made).map((shader) => gl.getShaderInfoLog(shader));
      throw new Error(`the graphics driver refuses a shader: ${gl.getProgramInfoLog(made)} ${logs.join(' ')}`);
    }
    const places = {};
    const count = gl.getProgramParameter(made, gl.ACTIVE_UNIFORMS);
    for (let k = 0; k < count; k += 1) {
      const { name } = gl.getActiveUniform(made, k);
      places[name] = gl.getUniformLocation(made, name);
    }
    return { made, places };
  };

  const set = (gl, { places }, values) => {
    for (const [name, value] of Object.entries(values)) {
      const place = places[name];
      if (place === undefined) continue;
      if (typeof value === 'number') gl.uniform1f(place, value);
      else if (value.length === 16) gl.uniformMatrix4fv(place, false, value);
      else if (value.length === 4) gl.uniform4fv(place, value);
      else gl.uniform3fv(place, value);
    }
  };

  const attribute = (gl, location, size, stride, offset, divisor) => {
    gl.enableVertexAttribArray(location);
    gl.vertexAttribPointer(location, size, gl.FLOAT, false, stride, offset);
    gl.vertexAttribDivisor(location, divisor);
  };
  const filled = (gl, data) => {
    const buffer = gl.createBuffer();
    gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
    gl.bufferData(gl.ARRAY_BUFFER, data, gl.STATIC_DRAW);
    return buffer;
  };
  const uploaded = (gl, { vertices, normals }) => {
    const layout = gl.createVertexArray();
    gl.bindVertexArray(layout);
    const fixed = [vertices, normals].map((data, location) => {
      const buffer = filled(gl, data);
      attribute(gl, location, 3, 0, 0, 0);
      return buffer;
    });
    const instances = gl.createBuffer();
    gl.bindBuffer(gl.ARRAY_BUFFER, instances);
    for (let k = 0; k < 4; k += 1) attribute(gl, 2 + k, 4, 4 * FLOATS, 16 * k, 1);
    gl.bindVertexArray(null);
    const free = () => {
      [...fixed, instances].forEach((buffer) => gl.deleteBuffer(buffer));
      gl.deleteVertexArray(layout);
    };
    return { layout, instances, corners: vertices.length / 3, free };
  };
  const fill = (gl, shape, numbers) => {
    gl.bindBuffer(gl.ARRAY_BUFFER, shape.instances);
    gl.bufferData(gl.ARRAY_BUFFER, new Float32Array(numbers), gl.DYNAMIC_DRAW);
  };
  const drawInstances = (gl, shape, count) => {
    gl.bindVertexArray(shape.layout);
    gl.drawArraysInstanced(gl.TRIANGLES, 0, shape.corners, count);
  };

  const shadowMap = (gl, size) => {
    const texture = gl.createTexture();
    gl.bindTexture(gl.TEXTURE_2D, texture);
    gl.texStorage2D(gl.TEXTURE_2D, 1, gl.DEPTH_COMPONENT24, size, size);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MIN_FILTER, gl.LINEAR);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MAG_FILTER, gl.LINEAR);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_WRAP_S, gl.CLAMP_TO_EDGE);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_WRAP_T, gl.CLAMP_TO_EDGE);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_COMPARE_MODE, gl.COMPARE_REF_TO_TEXTURE);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_COMPARE_FUNC, gl.LEQUAL);
    const target = gl.createFramebuffer();
    gl.bindFramebuffer(gl.FRAMEBUFFER, target);
    gl.framebufferTexture2D(gl.FRAMEBUFFER, gl.DEPTH_ATTACHMENT, gl.TEXTURE_2D, texture, 0);
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
    return { texture, target, size };
  };

  return { FLOATS, program, set, uploaded, fill, drawInstances, shadowMap };
})();
