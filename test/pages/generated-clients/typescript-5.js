// Loads TypeScript 5 for the generators: they need its JavaScript API, which TypeScript 7 doesn't have.

import { register } from 'node:module';

const hook =
  "export const resolve = (name, context, next) => next(name === 'typescript' ? 'typescript-5' : name, context);";
register(`data:text/javascript,${encodeURIComponent(hook)}`);
