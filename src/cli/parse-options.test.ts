import { afterEach, expect, it, vi } from 'vitest';
import { CAPTION_OPTIONS } from './caption-options.ts';
import { HELP_OPTION, readCommand } from './parse-options.ts';

const COMMAND = {
  name: 'draw',
  usages: ['<file>'],
  help: 'Draws.',
  options: { ...CAPTION_OPTIONS, help: HELP_OPTION },
} as const;

afterEach(() => {
  vi.restoreAllMocks();
});

it('prints help with every option and its description, in which fields are options', () => {
  const write = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
  expect(readCommand(COMMAND, ['--help'])).toBeUndefined();
  const help = String(write.mock.calls[0]?.[0]);
  expect(help).toContain('Usage:\n  storybar draw <file>\n\nDraws.\n\nOptions:\n');
  expect(help).toContain(
    '  --fps <value>\n      Frames per second of a transparent video. Default: 30. Only with --duration.\n',
  );
  for (const option of Object.keys(COMMAND.options))
    expect(help).toMatch(new RegExp(`--${option}\\b.*\\n {6}\\S`, 'u'));
  expect(help).not.toContain('`');
});

it('takes arguments only if a usage names some', () => {
  expect(readCommand(COMMAND, ['photo.jpg', '--fps', '25'])).toMatchObject({ positionals: ['photo.jpg'] });
  const { usages: _usages, ...withoutArguments } = COMMAND;
  expect(() => readCommand(withoutArguments, ['photo.jpg'])).toThrow(/photo\.jpg/u);
});
