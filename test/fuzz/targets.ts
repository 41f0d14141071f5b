// What is fuzzed: everything that parses bytes of strangers by hand.

import type { Target } from './fuzzer.ts';

const LOADERS = {
  jpeg: async () => await import('./targets/jpeg.ts'),
  heif: async () => await import('./targets/heif.ts'),
  png: async () => await import('./targets/png.ts'),
  containers: async () => await import('./targets/containers.ts'),
  profiles: async () => await import('./targets/profiles.ts'),
  fonts: async () => await import('./targets/fonts.ts'),
  woff2: async () => await import('./targets/woff2.ts'),
  'postscript-fonts': async () => await import('./targets/postscript-fonts.ts'),
  logos: async () => await import('./targets/logos.ts'),
  captions: async () => await import('./targets/captions.ts'),
  multipart: async () => await import('./targets/multipart.ts'),
  'worker-messages': async () => await import('./targets/worker-messages.ts'),
} satisfies Readonly<Record<string, () => Promise<{ readonly fuzz: Target }>>>;

export type TargetName = keyof typeof LOADERS;

export const TARGETS = Object.keys(LOADERS) as TargetName[];

export function isTargetName(name: string): name is TargetName {
  return Object.hasOwn(LOADERS, name);
}

export async function loadTarget(name: TargetName): Promise<Target> {
  return (await LOADERS[name]()).fuzz;
}
