// `errors.ts`, whose types the pure modules use, sets this property. Engines that don't know it ignore it.

interface ErrorConstructor {
  stackTraceLimit: number;
}
