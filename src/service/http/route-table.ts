// The methods that each path accepts, collected from Fastify while routes are registered. Fastify responds to a wrong
// method with 404. This table lets the server respond with 405 and an `allow` header.

import type { FastifyInstance } from 'fastify';

interface Route {
  readonly pattern: RegExp;
  readonly methods: Set<string>;
}

export class RouteTable {
  readonly #routes = new Map<string, Route>();

  /**
   * The table must exist before the first route, because Fastify reports only routes that are registered after the
   * hook.
   */
  constructor(app: FastifyInstance) {
    app.addHook('onRoute', ({ url, method }) => this.#add(url, [method].flat()));
  }

  /**
   * Returns the methods that a path accepts, or undefined for an unknown path. A literal path takes precedence over one
   * with `:name`.
   */
  methodsOf(path: string): ReadonlySet<string> | undefined {
    const route = this.#routes.get(path) ?? [...this.#routes.values()].find(({ pattern }) => pattern.test(path));
    return route?.methods;
  }

  #add(url: string, methods: readonly string[]): void {
    const route = this.#routes.get(url) ?? { pattern: patternOf(url), methods: new Set() };
    for (const method of methods) route.methods.add(method);
    this.#routes.set(url, route);
  }
}

function patternOf(url: string): RegExp {
  return new RegExp(`^${url.split('/').map(segmentPattern).join('/')}$`, 'u');
}

/** `:name` stands for one path segment, and `*` for all that follow. */
function segmentPattern(segment: string): string {
  if (segment === '*') return '.+';
  return segment.startsWith(':') ? '[^/]+' : segment.replaceAll(/[^\w-]/gu, String.raw`\$&`);
}
