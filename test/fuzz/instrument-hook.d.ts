/** Adds a counter to every branch of a JavaScript module. */
export function instrument(source: string): string;
