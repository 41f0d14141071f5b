// Routes come in groups, each with the paths it serves: the API, the pages, and whatever is plugged in beside them.

import type { FastifyInstance } from 'fastify';

export interface RouteGroup {
  /** Every path of the group and the methods it takes, as in an `allow` header. `:name` stands for one segment. */
  readonly paths: Readonly<Record<string, string>>;
  readonly register: (app: FastifyInstance) => void;
}

/** Which methods a path takes; undefined when no group knows it. A plain path stands before one with a `:name`. */
export function createRouteTable(groups: readonly RouteGroup[]): (path: string) => string | undefined {
  const entries = groups.flatMap(({ paths }) => Object.entries(paths));
  const plain = new Map(entries.filter(([path]) => !path.includes('/:')));
  const patterns = entries
    .filter(([path]) => path.includes('/:'))
    .map(([path, allow]) => ({ pattern: patternOf(path), allow }));
  return (path) => plain.get(path) ?? patterns.find(({ pattern }) => pattern.test(path))?.allow;
}

function patternOf(path: string): RegExp {
  const segments = path
    .split('/')
    .map((segment) => (segment.startsWith(':') ? '[^/]+' : segment.replaceAll(/[^\w-]/gu, String.raw`\$&`)));
  return new RegExp(`^${segments.join('/')}$`, 'u');
}
