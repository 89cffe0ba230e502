// Programs of the graphics card. Light is added up in linear numbers and shown in sRGB.
const shaders = (() => {
  const HEAD = '#version 300 es\nprecision highp float;\nprecision highp sampler2DShadow;\n';

  const SHADOW = `
    uniform sampler2DShadow shadowMap;
    uniform mat4 lightMatrix;
    uniform float texel;
    float lit(vec3 place) {
      vec3 p = (lightMatrix * vec4(place, 1.0)).xyz * 0.5 + 0.5;
      if (any(lessThan(p, vec3(0.0))) || any(greaterThan(p, vec3(1.0)))) return 1.0;
      float sum = 0.0;
      for (int i = 0; i < 4; i++) {
        vec2 step = vec2(float(i & 1) - 0.5, float(i >> 1) - 0.5) * 1.6 * texel;
        sum += texture(shadowMap, vec3(p.xy + step, p.z));
      }
      return sum * 0.25;
    }`;

  const solidVertex = `${HEAD}
    layout(location = 0) in vec3 position;
    layout(location = 1) in vec3 normal;
    layout(location = 2) in vec4 row0;
    layout(location = 3) in vec4 row1;
    layout(location = 4) in vec4 row2;
    layout(location = 5) in vec4 colour;
    uniform mat4 viewProjection;
    out vec3 place;
    out vec3 facing;
    out vec4 paint;
    void main() {
      vec4 p = vec4(position, 1.0);
      place = vec3(dot(row0, p), dot(row1, p), dot(row2, p));
      // Columns are at right angles, so the inverse transpose is each of them over its squared length.
      vec3 a = vec3(row0.x, row1.x, row2.x);
      vec3 b = vec3(row0.y, row1.y, row2.y);
      vec3 c = vec3(row0.z, row1.z, row2.z);
      facing = a * normal.x / dot(a, a) + b * normal.y / dot(b, b) + c * normal.z / dot(c, c);
      paint = colour;
      gl_Position = viewProjection * vec4(place, 1.0);
    }`;

  const solidFragment = `${HEAD}${SHADOW}
    in vec3 place;
    in vec3 facing;
    in vec4 paint;
    uniform vec3 eye;
    uniform vec3 sun;
    uniform float shadows;
    uniform vec3 sky;
    uniform vec3 floorLight;
    out vec4 seen;
    void main() {
      vec3 n = normalize(facing);
      vec3 toEye = normalize(eye - place);
      if (dot(n, toEye) < 0.0) n = -n;
      float direct = max(dot(n, sun), 0.0);
      if (shadows > 0.0 && direct > 0.0) direct *= lit(place + n * shadows);
      vec3 base = pow(paint.rgb, vec3(2.2));
      vec3 ambient = mix(floorLight, sky, n.z * 0.5 + 0.5);
      vec3 halfway = normalize(sun + toEye);
      float gloss = pow(max(dot(n, halfway), 0.0), 40.0) * 0.14 * step(0.001, direct);
      float rim = pow(1.0 - max(dot(n, toEye), 0.0), 4.0) * 0.10;
      vec3 light = base * (ambient + 0.92 * direct) + gloss + rim * sky;
      seen = vec4(pow(min(light, vec3(1.0)), vec3(1.0 / 2.2)), paint.a);
    }`;

  const shadowFragment = `${HEAD} void main() {}`;

  const groundVertex = `${HEAD}
    uniform mat4 viewProjection;
    uniform vec3 centre;
    uniform float reach;
    out vec3 place;
    void main() {
      vec2 corner = vec2(float(gl_VertexID & 1), float(gl_VertexID >> 1)) * 2.0 - 1.0;
      place = vec3(centre.xy + corner * reach, 0.0);
      gl_Position = viewProjection * vec4(place, 1.0);
    }`;

  const groundFragment = `${HEAD}${SHADOW}
    in vec3 place;
    uniform vec3 centre;
    uniform float reach;
    uniform float cell;
    uniform vec4 lineColour;
    uniform float darkness;
    uniform vec3 axisX;
    uniform vec3 axisY;
    out vec4 seen;
    float lines(vec2 p, float size, float width) {
      vec2 q = p / size;
      vec2 w = max(fwidth(q), 1e-5);
      vec2 d = abs(fract(q - 0.5) - 0.5) / w;
      // Lines closer than two pixels would shimmer: they fade out instead.
      vec2 keep = clamp(1.6 - 4.0 * w, 0.0, 1.0);
      vec2 on = clamp(width - d, 0.0, 1.0) * keep;
      return max(on.x, on.y);
    }
    void main() {
      float far = length(place.xy - centre.xy) / reach;
      float fade = pow(clamp(1.0 - far, 0.0, 1.0), 1.5);
      float fine = lines(place.xy, cell, 1.0) * 0.45;
      float coarse = lines(place.xy, cell * 5.0, 1.2);
      float amount = max(fine, coarse) * lineColour.a * fade;
      vec3 colour = lineColour.rgb;
      vec2 w = max(fwidth(place.xy), 1e-6);
      vec2 axis = clamp(1.6 - abs(place.yx) / w.yx, 0.0, 1.0) * fade;
      float along = max(axis.x, axis.y);
      if (along > 0.0) {
        colour = mix(colour, axis.x > axis.y ? axisX : axisY, along);
        amount = max(amount, along * 0.85);
      }
      float shade = darkness > 0.0 ? (1.0 - lit(place)) * darkness * fade : 0.0;
      float alpha = amount + shade * (1.0 - amount);
      seen = vec4(alpha > 0.0 ? colour * amount / alpha : vec3(0.0), alpha);
    }`;

  const skyVertex = `${HEAD}
    out float height;
    void main() {
      vec2 corner = vec2(float(gl_VertexID & 1), float(gl_VertexID >> 1)) * 2.0 - 1.0;
      height = corner.y * 0.5 + 0.5;
      gl_Position = vec4(corner, 1.0, 1.0);
    }`;
  const skyFragment = `${HEAD}
    in float height;
    uniform vec3 low;
    uniform vec3 high;
    out vec4 seen;
    void main() { seen = vec4(mix(low, high, smoothstep(0.0, 1.0, height)), 1.0); }`;

  return { solidVertex, solidFragment, shadowFragment, groundVertex, groundFragment, skyVertex, skyFragment };
})();
