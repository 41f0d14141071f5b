/**
 * The number of cases of a random test: all of them in `npm run test:slow`, which finds the file by this function's
 * name, and fewer in other runs.
 */
export function randomCases({ usually, all }: { readonly usually: number; readonly all: number }): number {
  return process.env['TESTS_CASES'] === 'all' ? all : usually;
}
