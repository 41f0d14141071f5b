// The tone curves of color profiles: from the signal of a component to linear light, and back. Both are in 0..1.

export interface ToneCurve {
  lightAt(signal: number): number;
  /** The signals that mean `0 / steps` to `steps / steps` of light. */
  signals(steps: number): Float64Array;
}

/** Points of a curve. Between them, it is a straight line. */
const POINTS = 4_096;
/** Parameters of a parametric curve, by its type. */
const PARAMETERS = [1, 3, 4, 5, 7];
const FIXED_POINT = 65_536;

/** `data`: a tag of type `curv` or `para`. Returns `undefined` for curves that can't be inverted. */
export function toneCurve(data: Buffer | undefined): ToneCurve | undefined {
  const toLight = data && lightFunction(data);
  if (toLight === undefined) return undefined;
  const points = Float64Array.from({ length: POINTS + 1 }, (_, point) => toLight(point / POINTS));
  const isRising = points.every((light, point) => Number.isFinite(light) && light >= (points[point - 1] ?? light));
  if (!isRising || (points[POINTS] ?? 0) <= (points[0] ?? 0)) return undefined;
  return { lightAt: toLight, signals: (steps) => signalsOf(points, steps) };
}

function signalsOf(points: Float64Array, steps: number): Float64Array {
  const signals = new Float64Array(steps + 1);
  let next = 0;
  for (let step = 0; step <= steps; step += 1) {
    const light = step / steps;
    while (next < POINTS && (points[next] ?? 0) < light) next += 1;
    const [from, to] = [points[next - 1] ?? 0, points[next] ?? 0];
    const part = to > from ? Math.min(1, (light - from) / (to - from)) : 1;
    signals[step] = next === 0 ? 0 : (next - 1 + part) / POINTS;
  }
  return signals;
}

function lightFunction(data: Buffer): ((signal: number) => number) | undefined {
  if (data.length < 12) return undefined;
  const type = data.toString('latin1', 0, 4);
  if (type === 'curv') return sampledCurve(data);
  return type === 'para' ? parametricCurve(data) : undefined;
}

function sampledCurve(data: Buffer): ((signal: number) => number) | undefined {
  const count = data.readUInt32BE(8);
  if (count === 0) return (signal) => signal;
  if (12 + count * 2 > data.length) return undefined;
  const at = (index: number): number => data.readUInt16BE(12 + index * 2);
  if (count === 1) {
    const gamma = at(0) / 256;
    return (signal) => signal ** gamma;
  }
  return (signal) => {
    const place = signal * (count - 1);
    const index = Math.min(count - 2, Math.floor(place));
    return (at(index) + (at(index + 1) - at(index)) * (place - index)) / 65_535;
  };
}

function parametricCurve(data: Buffer): ((signal: number) => number) | undefined {
  const type = data.readUInt16BE(8);
  const count = PARAMETERS[type];
  if (count === undefined || 12 + count * 4 > data.length) return undefined;
  const [g = 1, a = 1, b = 0, c = 0, d = 0, e = 0, f = 0] = Array.from(
    { length: count },
    (_, index) => data.readInt32BE(12 + index * 4) / FIXED_POINT,
  );
  const power = (signal: number): number => Math.max(0, a * signal + b) ** g;
  switch (type) {
    case 0:
      return (signal) => signal ** g;
    case 1:
      return (signal) => (signal >= -b / a ? power(signal) : 0);
    case 2:
      return (signal) => (signal >= -b / a ? power(signal) + c : c);
    case 3:
      return (signal) => (signal >= d ? power(signal) : c * signal);
    default:
      return (signal) => (signal >= d ? power(signal) + e : c * signal + f);
  }
}
