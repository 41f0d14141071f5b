// The arguments of bubblewrap: an empty root, the program and its libraries read-only, one directory to write to; no
// network, no other process, no /proc, no capability. A pure function of what must be visible.

import { EXTRA_INPUT } from '../../media/process.ts';
import type { Places } from './places.ts';

/** Nobody, in a user namespace of its own. */
const NOBODY = '65534';

export function bubblewrapArguments(
  { readOnly, links, masked }: Places,
  cell: { readonly outside: string; readonly inside: string },
): string[] {
  return [
    ...['--unshare-user', '--uid', NOBODY, '--gid', NOBODY, '--cap-drop', 'ALL'],
    ...['--unshare-pid', '--unshare-net', '--unshare-ipc', '--unshare-uts', '--unshare-cgroup-try'],
    ...['--seccomp', String(EXTRA_INPUT)],
    // Not --new-session: our process groups are sessions already, and a group is ended as one.
    ...['--die-with-parent', '--hostname', 'worker'],
    ...readOnly.flatMap((place) => ['--ro-bind', place, place]),
    ...links.flatMap(({ at, to }) => ['--symlink', to, at]),
    ...masked.flatMap((place) => ['--tmpfs', place, '--remount-ro', place]),
    ...['/dev/null', '/dev/urandom'].flatMap((device) => ['--dev-bind', device, device]),
    ...['--bind', cell.outside, cell.inside, '--chdir', cell.inside],
    // The root is memory that nobody counts.
    ...['--remount-ro', '/'],
  ];
}
