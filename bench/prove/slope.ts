/** Fits a least-squares line through points. Returns its slope and the standard error of the slope. */
export function fitLine(points: readonly (readonly [number, number])[]): { slope: number; standardError: number } {
  const count = points.length;
  const mean = (index: 0 | 1): number => points.reduce((sum, point) => sum + point[index], 0) / count;
  const [meanX, meanY] = [mean(0), mean(1)];
  const spread = points.reduce((sum, [x]) => sum + (x - meanX) ** 2, 0);
  const slope = points.reduce((sum, [x, y]) => sum + (x - meanX) * (y - meanY), 0) / spread;
  const residuals = points.reduce((sum, [x, y]) => sum + (y - meanY - slope * (x - meanX)) ** 2, 0);
  return { slope, standardError: Math.sqrt(residuals / Math.max(1, count - 2) / spread) };
}
