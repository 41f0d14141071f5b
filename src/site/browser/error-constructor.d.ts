// `errors.ts`, whose types the pure modules use, sets this property. Engines that don't support it ignore it.

interface ErrorConstructor {
  stackTraceLimit: number;
}
