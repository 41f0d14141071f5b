// The properties that fuzz targets check. A violated one is an error that no target expects, so the fuzzer reports its input.

export function check(isTrue: boolean, property: string): asserts isTrue {
  if (!isTrue) throw new Error(`violated: ${property}`);
}

/** Ignores the errors by which a parser refuses its input. Everything else that it throws is a finding. */
export function allowing<Result>(isRefusal: (error: unknown) => boolean, work: () => Result): Result | undefined {
  try {
    return work();
  } catch (error) {
    if (!isRefusal(error)) throw error;
    return undefined;
  }
}
