// A misspelled variable would leave its setting at the default, such as sign-up open to everyone. So a name that begins like ours
// and isn't a setting is an error.

const PREFIX = 'STORYBAR_';

/** Variables of the other programs of this project, which may share an environment with the server. */
const OTHER_PROGRAMS = /^STORYBAR_MCP_/u;

/** One fault for each variable that isn't a setting. */
export function unknownVariables(given: readonly string[], known: readonly string[]): string[] {
  const services = given.flatMap((name) => /^(?<service>.+)_SERVICE_HOST$/u.exec(name)?.groups?.['service'] ?? []);
  return given
    .filter((name) => name.startsWith(PREFIX) && !known.includes(name))
    .filter((name) => !OTHER_PROGRAMS.test(name) && !services.some((service) => isServiceLink(name, service)))
    .map((name) => {
      const nearest = nearestName(name, known);
      const advice = nearest === undefined ? 'see docs/configuration.md' : `did you mean ${nearest}?`;
      return `${name} isn't a setting; ${advice}`;
    });
}

/** Kubernetes describes each service of a namespace in variables of every container, such as STORYBAR_PORT_80_TCP_ADDR. */
function isServiceLink(name: string, service: string): boolean {
  const rest = name.startsWith(`${service}_`) ? name.slice(service.length + 1) : '';
  return /^(?:SERVICE_HOST|SERVICE_PORT(?:_\w+)?|PORT(?:_\d+_(?:TCP|UDP|SCTP)(?:_(?:PROTO|PORT|ADDR))?)?)$/u.test(rest);
}

/** Undefined if no name has at least two thirds of its characters in common. */
function nearestName(name: string, known: readonly string[]): string | undefined {
  const own = withoutPrefix(name);
  const ranked = known
    .map((candidate) => ({ candidate, distance: editDistance(own, withoutPrefix(candidate)) }))
    .toSorted((a, b) => a.distance - b.distance);
  const [best] = ranked;
  return best !== undefined && best.distance <= Math.ceil(own.length / 3) ? best.candidate : undefined;
}

function withoutPrefix(name: string): string {
  return name.startsWith(PREFIX) ? name.slice(PREFIX.length) : name;
}

/** The number of characters to insert, delete or replace (Levenshtein). */
function editDistance(from: string, to: string): number {
  let previous = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let row = 0; row < from.length; row += 1) {
    const current = [row + 1];
    for (let column = 0; column < to.length; column += 1) {
      const replaced = (previous[column] ?? 0) + (from[row] === to[column] ? 0 : 1);
      current.push(Math.min(replaced, (previous[column + 1] ?? 0) + 1, (current[column] ?? 0) + 1));
    }
    previous = current;
  }
  return previous.at(-1) ?? 0;
}
