// A misspelled variable would leave its setting at the default, such as sign-up open to everyone. So a name that begins like ours
// and isn't a setting is an error.

import { nearestName } from '../../shared/edit-distance.ts';

const PREFIX = 'STORYBAR_';

/** Variables of the other programs of this project, which may share an environment with the server. */
const OTHER_PROGRAMS = /^STORYBAR_MCP_/u;

/** Settings of earlier versions, each with what to do. They have no effect, and don't stop the start. */
const REMOVED: Readonly<Record<string, string>> = {
  STORYBAR_SEGMENT_SECONDS: 'remove it; one worker renders each video',
};

export interface RemovedVariable {
  readonly variable: string;
  readonly advice: string;
}

export function removedVariables(given: readonly string[]): RemovedVariable[] {
  return Object.entries(REMOVED).flatMap(([variable, advice]) =>
    given.includes(variable) ? { variable, advice } : [],
  );
}

/** One fault for each variable that isn't a setting, and never was one. */
export function unknownVariables(given: readonly string[], known: readonly string[]): string[] {
  const services = given.flatMap((name) => /^(?<service>.+)_SERVICE_HOST$/u.exec(name)?.groups?.['service'] ?? []);
  return given
    .filter((name) => name.startsWith(PREFIX) && !known.includes(name) && !Object.hasOwn(REMOVED, name))
    .filter((name) => !OTHER_PROGRAMS.test(name) && !services.some((service) => isServiceLink(name, service)))
    .map((name) => {
      const similar = nearestName(withoutPrefix(name), known.map(withoutPrefix));
      const nearest = known.find((candidate) => withoutPrefix(candidate) === similar);
      const advice = nearest === undefined ? 'see docs/configuration.md' : `did you mean ${nearest}?`;
      return `${name} isn't a setting; ${advice}`;
    });
}

/** Kubernetes describes each service of a namespace in variables of every container, such as STORYBAR_PORT_80_TCP_ADDR. */
function isServiceLink(name: string, service: string): boolean {
  const rest = name.startsWith(`${service}_`) ? name.slice(service.length + 1) : '';
  return /^(?:SERVICE_HOST|SERVICE_PORT(?:_\w+)?|PORT(?:_\d+_(?:TCP|UDP|SCTP)(?:_(?:PROTO|PORT|ADDR))?)?)$/u.test(rest);
}

function withoutPrefix(name: string): string {
  return name.startsWith(PREFIX) ? name.slice(PREFIX.length) : name;
}
