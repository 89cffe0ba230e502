// Draws lists of instances: shadows, sky, ground, solid and translucent shapes, then what lies on top.
const renderer = (() => {
  const SHADOW_SIZE = 1024;
  const SUN = maths.unit([0.38, -0.42, 1.0]);

  const resources = (gl) => ({
    solid: gpu.program(gl, shaders.solidVertex, shaders.solidFragment),
    shadow: gpu.program(gl, shaders.solidVertex, shaders.shadowFragment),
    ground: gpu.program(gl, shaders.groundVertex, shaders.groundFragment),
    sky: gpu.program(gl, shaders.skyVertex, shaders.skyFragment),
    map: gpu.shadowMap(gl, SHADOW_SIZE),
    empty: gl.createVertexArray(),
    shapes: new Map(),
  });

  const lightMatrix = ({ centre, radius }) => {
    const right = maths.unit(maths.cross([0, 0, 1], SUN));
    const up = maths.cross(SUN, right);
    const eye = maths.add(centre, maths.scale(SUN, 3 * radius));
    const view = maths.lookAlong(eye, right, up, maths.scale(SUN, -1));
    return maths.multiply(maths.orthographic(1.15 * radius, 0.5 * radius, 9 * radius), view);
  };

  // Cells of the ground: 1, 2 or 5 times a power of ten, about a tenth of what is seen.
  const cellSize = (distance) => {
    const power = 10 ** Math.floor(Math.log10(distance / 12));
    const rest = distance / 12 / power;
    return power * (rest < 2 ? 1 : rest < 5 ? 2 : 5);
  };

  // Every list of instances is a Map from a shape's name to numbers, gpu.FLOATS for each copy.
  const drawLists = (self, lists, meshes) => {
    const { gl, has } = self;
    for (const [name, numbers] of lists) {
      if (!numbers.length) continue;
      let shape = has.shapes.get(name);
      if (!shape) {
        const triangles = geometry.SHAPES[name] ? geometry.SHAPES[name]() : meshes.get(name);
        shape = gpu.uploaded(gl, triangles);
        has.shapes.set(name, shape);
      }
      gpu.fill(gl, shape, numbers);
      gpu.drawInstances(gl, shape, numbers.length / gpu.FLOATS);
    }
  };

  const drawShadows = (self, frame, light) => {
    const { gl, has } = self;
    gl.bindFramebuffer(gl.FRAMEBUFFER, has.map.target);
    gl.viewport(0, 0, SHADOW_SIZE, SHADOW_SIZE);
    gl.clear(gl.DEPTH_BUFFER_BIT);
    gl.enable(gl.POLYGON_OFFSET_FILL);
    gl.polygonOffset(1.5, 3);
    gl.useProgram(has.shadow.made);
    gpu.set(gl, has.shadow, { viewProjection: light });
    drawLists(self, frame.solid, frame.meshes);
    gl.disable(gl.POLYGON_OFFSET_FILL);
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
  };

  const drawSky = (self, { theme }) => {
    const { gl, has } = self;
    gl.depthMask(false);
    gl.disable(gl.DEPTH_TEST);
    gl.useProgram(has.sky.made);
    gpu.set(gl, has.sky, { low: theme.low, high: theme.high });
    gl.bindVertexArray(has.empty);
    gl.drawArrays(gl.TRIANGLE_STRIP, 0, 4);
    gl.enable(gl.DEPTH_TEST);
    gl.depthMask(true);
  };

  const drawGround = (self, frame, shared) => {
    const { gl, has } = self;
    const { theme, camera, bounds } = frame;
    const reach = Math.max(6 * bounds.radius, 2.5 * camera.distance);
    gl.depthMask(false);
    gl.useProgram(has.ground.made);
    gpu.set(gl, has.ground, {
      ...shared, reach, centre: camera.target, cell: cellSize(camera.distance), lineColour: theme.grid,
      darkness: theme.shadow, axisX: theme.axes[0], axisY: theme.axes[1],
    });
    gl.bindVertexArray(has.empty);
    gl.drawArrays(gl.TRIANGLE_STRIP, 0, 4);
    gl.depthMask(true);
  };

  const drawSolids = (self, frame, shared) => {
    const { gl, has } = self;
    const { theme, bounds } = frame;
    gl.useProgram(has.solid.made);
    const light = { ...shared, eye: frame.camera.eye(), sun: SUN, sky: theme.sky, floorLight: theme.floorLight };
    gpu.set(gl, has.solid, { ...light, shadows: 0.004 * bounds.radius });
    drawLists(self, frame.solid, frame.meshes);
  };

  // Their depth first, so that of a translucent robot only the surface in front is seen.
  const drawTranslucent = (self, frame) => {
    const { gl, has } = self;
    gl.useProgram(has.solid.made);
    gpu.set(gl, has.solid, { shadows: 0 });
    gl.enable(gl.POLYGON_OFFSET_FILL);
    gl.polygonOffset(-1, -1);
    gl.colorMask(false, false, false, false);
    drawLists(self, frame.translucent, frame.meshes);
    gl.colorMask(true, true, true, true);
    drawLists(self, frame.translucent, frame.meshes);
    gl.disable(gl.POLYGON_OFFSET_FILL);
  };

  const drawOnTop = (self, frame) => {
    const { gl, has } = self;
    gl.clear(gl.DEPTH_BUFFER_BIT);
    gl.useProgram(has.solid.made);
    gpu.set(gl, has.solid, { shadows: 0 });
    drawLists(self, frame.top, frame.meshes);
  };

  const draw = (self, frame) => {
    const { gl, has } = self;
    const light = lightMatrix(frame.bounds);
    gl.enable(gl.DEPTH_TEST);
    gl.depthFunc(gl.LEQUAL);
    gl.disable(gl.BLEND);
    drawShadows(self, frame, light);
    gl.viewport(0, 0, gl.drawingBufferWidth, gl.drawingBufferHeight);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
    gl.activeTexture(gl.TEXTURE0);
    gl.bindTexture(gl.TEXTURE_2D, has.map.texture);
    const shared = { viewProjection: frame.camera.matrix(), lightMatrix: light, texel: 1 / SHADOW_SIZE };
    drawSky(self, frame);
    drawSolids(self, frame, shared);
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.SRC_ALPHA, gl.ONE_MINUS_SRC_ALPHA);
    drawGround(self, frame, shared);
    if (frame.translucent.size) drawTranslucent(self, frame);
    gl.disable(gl.BLEND);
    if (frame.top.size) drawOnTop(self, frame);
    gl.bindVertexArray(null);
  };

  const context = (canvas) => {
    try {
      return canvas.getContext('webgl2', { antialias: true, alpha: false, powerPreference: 'high-performance' });
    } catch (error) {
      return null;
    }
  };

  // Null where the browser has no WebGL2.
  const create = (canvas, changed) => {
    const gl = context(canvas);
    if (!gl) return null;
    const self = { gl, has: resources(gl), lost: false };
    canvas.addEventListener('webglcontextlost', (event) => {
      event.preventDefault();
      self.lost = true;
      changed(self);
    });
    canvas.addEventListener('webglcontextrestored', () => {
      self.has = resources(gl);
      self.lost = false;
      changed(self);
    });
    self.draw = (frame) => { if (!self.lost) draw(self, frame); };
    self.forgetMeshes = () => {
      for (const [name, shape] of self.has.shapes) {
        if (!geometry.SHAPES[name]) { shape.free(); self.has.shapes.delete(name); }
      }
    };
    return self;
  };

  return { create };
})();
