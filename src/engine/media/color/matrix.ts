// 3x3 matrices between the RGB of given primaries and CIE XYZ.

export type Matrix3 = readonly [number, number, number, number, number, number, number, number, number];
type Vector3 = readonly [number, number, number];

const BRADFORD: Matrix3 = [0.8951, 0.2664, -0.1614, -0.7502, 1.7135, 0.0367, 0.0389, -0.0685, 1.0296];
const D65_WHITE: Vector3 = xyzOf(0.3127, 0.329);

/** Returns the matrix from linear RGB to XYZ, adapted to D65. Takes x and y of white, red, green and blue. */
export function toXyz(chromaticities: readonly number[]): Matrix3 {
  const at = (index: number): Vector3 => xyzOf(chromaticities[index] ?? 0, chromaticities[index + 1] ?? 1);
  const [white, red, green, blue] = [at(0), at(2), at(4), at(6)];
  const primaries = columns(red, green, blue);
  const [sr, sg, sb] = apply(inverse(primaries), white);
  return multiply(adaptation(white), multiply(primaries, [sr, 0, 0, 0, sg, 0, 0, 0, sb]));
}

/** Adapts a white point to D65 with the Bradford transform. */
function adaptation(white: Vector3): Matrix3 {
  const from = apply(BRADFORD, white);
  const to = apply(BRADFORD, D65_WHITE);
  const scale: Matrix3 = [to[0] / from[0], 0, 0, 0, to[1] / from[1], 0, 0, 0, to[2] / from[2]];
  return multiply(inverse(BRADFORD), multiply(scale, BRADFORD));
}

function xyzOf(x: number, y: number): Vector3 {
  return [x / y, 1, (1 - x - y) / y];
}

function columns(a: Vector3, b: Vector3, c: Vector3): Matrix3 {
  return [a[0], b[0], c[0], a[1], b[1], c[1], a[2], b[2], c[2]];
}

function apply(m: Matrix3, [x, y, z]: Vector3): Vector3 {
  return [m[0] * x + m[1] * y + m[2] * z, m[3] * x + m[4] * y + m[5] * z, m[6] * x + m[7] * y + m[8] * z];
}

export function multiply(a: Matrix3, b: Matrix3): Matrix3 {
  const [first, second, third] = [0, 1, 2].map((column) =>
    apply(a, [b[column] ?? 0, b[column + 3] ?? 0, b[column + 6] ?? 0]),
  ) as [Vector3, Vector3, Vector3];
  return columns(first, second, third);
}

export function inverse([a, b, c, d, e, f, g, h, i]: Matrix3): Matrix3 {
  const determinant = a * (e * i - f * h) - b * (d * i - f * g) + c * (d * h - e * g);
  return [
    e * i - f * h,
    c * h - b * i,
    b * f - c * e,
    f * g - d * i,
    a * i - c * g,
    c * d - a * f,
    d * h - e * g,
    b * g - a * h,
    a * e - b * d,
  ].map((cofactor) => cofactor / determinant) as unknown as Matrix3;
}
