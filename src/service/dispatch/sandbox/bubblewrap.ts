// The arguments of bubblewrap: an empty root with the program and its libraries read-only and one writable directory,
// without network, other processes, /proc or capabilities.

import { EXTRA_INPUT } from '../../../engine/media/process.ts';
import type { VisiblePaths } from './visible-paths.ts';

/** The user `nobody`, in a user namespace of its own. */
const NOBODY = '65534';

export function bubblewrapArguments(
  { readOnly, links, masked }: VisiblePaths,
  directory: { readonly outside: string; readonly inside: string },
): string[] {
  return [
    '--unshare-user',
    '--uid',
    NOBODY,
    '--gid',
    NOBODY,
    '--cap-drop',
    'ALL',
    '--unshare-pid',
    '--unshare-net',
    '--unshare-ipc',
    '--unshare-uts',
    '--unshare-cgroup-try',
    '--seccomp',
    String(EXTRA_INPUT),
    // --new-session isn't needed, because every process group is a session already, and is killed as a group.
    '--die-with-parent',
    ...readOnly.flatMap((path) => ['--ro-bind', path, path]),
    ...links.flatMap(({ at, to }) => ['--symlink', to, at]),
    ...masked.flatMap((path) => ['--tmpfs', path, '--remount-ro', path]),
    ...['/dev/null', '/dev/urandom'].flatMap((device) => ['--dev-bind', device, device]),
    '--bind',
    directory.outside,
    directory.inside,
    '--chdir',
    directory.inside,
    // The root is a tmpfs, whose memory isn't limited.
    '--remount-ro',
    '/',
  ];
}
