import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { UsageError } from './exit-codes.ts';
import { day, flag, required, text, wholeNumber } from './options.ts';
import type { Print } from './print.ts';
import { action, type Command, runActions } from './run-actions.ts';

interface Task {
  readonly print: Print;
}

const inputs: unknown[] = [];
const remember = async (_task: Task, input: unknown): Promise<void> => {
  inputs.push(input);
};

const SHOP: Command<Task> = {
  name: 'shop',
  actions: [
    action({
      name: 'buy',
      args: ['what'],
      rest: 'extra',
      options: { count: wholeNumber('<n>', 1), on: day('<date>'), now: flag },
      help: 'Buy something.',
      run: remember,
    }),
    action({ name: 'sell', options: { to: required(text('<buyer>')) }, help: 'Sell something.', run: remember }),
    action({ name: 'look', help: 'Look around.', run: async ({ print }) => print({ found: 2 }, 'Two things.\n') }),
  ],
  notes: ['Open all day.'],
  withTask: async (print, use) => await use({ print }),
};

const [, , look] = SHOP.actions;
const SINGLE: Command<Task> = {
  name: 'window',
  actions: [action({ options: { from: text('<street>') }, help: 'Look at the window.', run: remember })],
  withTask: SHOP.withTask,
};

let printed = '';
beforeEach(() => {
  printed = '';
  inputs.length = 0;
  vi.spyOn(process.stdout, 'write').mockImplementation((chunk) => {
    printed += String(chunk);
    return true;
  });
});
afterEach(() => {
  vi.restoreAllMocks();
});

describe('runActions', () => {
  it('passes arguments and options by name, converted to their types', async () => {
    await runActions(SHOP, ['--count', '3', 'buy', 'bread', '--now', 'butter', 'jam']);
    await runActions(SHOP, ['buy', 'bread', '--on', '2026-01-31']);
    expect(inputs).toEqual([
      { what: 'bread', rest: ['butter', 'jam'], count: 3, on: undefined, now: true },
      { what: 'bread', rest: [], count: undefined, on: '2026-01-31', now: false },
    ]);
  });

  it('prints text, or JSON with --json', async () => {
    await runActions(SHOP, ['look']);
    await runActions(SHOP, ['look', '--json']);
    expect(printed).toBe('Two things.\n{"found":2}\n');
  });

  it('prints help that lists every action with its arguments and options', async () => {
    await runActions(SHOP, []);
    expect(printed).toBe(
      [
        'Usage:',
        '  storybar shop buy <what> [<extra>...] [--count <n>] [--on <date>] [--now]',
        '      Buy something.',
        '  storybar shop sell --to <buyer>',
        '      Sell something.',
        '  storybar shop look',
        '      Look around.',
        '',
        'Open all day.',
        'Add --json for machine-readable output.',
        '',
      ].join('\n'),
    );
    const whole = printed;
    printed = '';
    await runActions(SHOP, ['buy', '--help']);
    expect(printed).toBe(whole);
  });

  it('runs the default action when none is named', async () => {
    await runActions({ ...SHOP, actions: look ? [look] : [], defaultAction: 'look' }, []);
    expect(printed).toBe('Two things.\n');
  });

  it('runs a command whose only action has no name', async () => {
    await runActions(SINGLE, ['--from', 'here']);
    expect(inputs).toEqual([{ from: 'here', rest: [] }]);
    await runActions(SINGLE, ['-h']);
    expect(printed).toContain('Usage:\n  storybar window [--from <street>]\n      Look at the window.\n');
  });

  it.each([
    [SHOP, ['rent'], 'unknown action "shop rent"; the actions are buy, sell, look'],
    [SHOP, ['toString'], 'unknown action "shop toString"'],
    [SHOP, ['buy'], 'missing <what>; usage: storybar shop buy <what> [<extra>...]'],
    [SHOP, ['sell'], 'missing --to <buyer>; usage: storybar shop sell --to <buyer>'],
    [SHOP, ['look', 'up', 'there'], 'unexpected argument "up there"; usage: storybar shop look'],
    [SHOP, ['look', '--now'], '--now does not apply here; usage: storybar shop look'],
    [SHOP, ['buy', 'bread', '--count', '0'], '--count must be a whole number of at least 1; got "0"'],
    [SHOP, ['buy', 'bread', '--on', '2026-02-30'], '--on must be a date such as 2026-01-31; got "2026-02-30"'],
    [SINGLE, ['here'], 'unexpected argument "here"; usage: storybar window [--from <street>]'],
  ])('reports a usage error: storybar $0.name %j', async (command, args, message) => {
    const failure = await runActions(command, args).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(UsageError);
    expect((failure as Error).message).toContain(message);
    expect(inputs).toEqual([]);
  });

  it('refuses options that no action has', async () => {
    await expect(runActions(SHOP, ['buy', 'bread', '--cuont', '3'])).rejects.toThrow(
      'unknown option "--cuont"; did you mean --count?',
    );
  });
});
