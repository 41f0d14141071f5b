// The workflows in .github/ never run here, so this checks them without GitHub: they only call scripts that also run on
// a developer's machine, and everything they name exists.

import { accessSync, constants, existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';

const ROOT = path.resolve(import.meta.dirname, '..');
const FOLDER = path.join(ROOT, '.github/workflows');
const { scripts } = JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8')) as {
  scripts: Readonly<Record<string, string>>;
};

/** Commands that aren't ours, because only GitHub and npm have what they need. */
const FOREIGN = [
  /^echo "version=\$\{GITHUB_REF_NAME#v\}" >> "\$GITHUB_OUTPUT"$/u,
  /^gh release create /u,
  /^npm publish /u,
  /^npm ci$/u,
];

interface Workflow {
  readonly name: string;
  readonly text: string;
  readonly commands: readonly string[];
}

const workflows: Workflow[] = readdirSync(FOLDER).map((name) => {
  const text = readFileSync(path.join(FOLDER, name), 'utf8');
  return { name, text, commands: commandsOf(text) };
});

/** Returns the commands of `run: command` and of the lines below `run: |`. */
function commandsOf(text: string): string[] {
  const single = [...text.matchAll(/^ +(?:- )?run: (?!\|)(?<command>.+)$/gmu)];
  const blocks = [...text.matchAll(/^(?<indent> +)- run: \|\n(?<lines>(?:\k<indent> {4,}.+\n)+)/gmu)];
  return [
    ...single.map(({ groups }) => groups?.['command'] ?? ''),
    ...blocks.flatMap(({ groups }) => (groups?.['lines'] ?? '').trim().split(/\n\s*/u)),
  ];
}

function isExecutable(file: string): boolean {
  try {
    accessSync(path.join(ROOT, file), constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

describe.each(workflows)('the workflow $name', ({ text, commands }) => {
  it('a workflow calls only scripts that exist', () => {
    const ours = commands.filter((command) => !FOREIGN.some((pattern) => pattern.test(command)));
    const missing = ours.filter((command) => {
      const script = /^npm run (?:-s )?(?<name>[\w:]+)/u.exec(command)?.groups?.['name'];
      return script === undefined ? !isExecutable(command.split(' ', 1)[0] ?? '') : !(script in scripts);
    });
    expect(missing).toEqual([]);
  });

  it('names only files that exist', () => {
    const files = [...text.matchAll(/(?:uses: \.\/|node-version-file: )(?<file>\S+)/gu)];
    for (const { groups } of files) expect(existsSync(path.join(ROOT, groups?.['file'] ?? ''))).toBe(true);
  });

  it('a workflow grants permissions explicitly, limits the time of each job, and pins the version of each action', () => {
    expect(text).toMatch(/^permissions:\n {2}contents: read$/mu);
    const jobs =
      text
        .split(/^jobs:$/mu)[1]
        ?.split(/^ {2}(?=\w)/mu)
        .slice(1) ?? [];
    for (const job of jobs) expect(job).toMatch(/^ {4}(?:timeout-minutes: \d+|uses: \.\/)/mu);
    for (const [, action = ''] of text.matchAll(/uses: (?!\.\/)(\S+)/gu)) expect(action).toMatch(/@v?\d/u);
  });
});

it('the test finds the commands of the workflows, in one line and in several', () => {
  const commands = workflows.flatMap((workflow) => workflow.commands);
  expect(commands).toContain('.ci/run');
  expect(commands).toContain('npm run -s release:notes > notes.md');
});

it('every script of package.json that runs a file names one that exists', () => {
  const files = Object.values(scripts).flatMap(
    (command) => command.match(/(?<![\w/])(?:scripts|bench|bin)\/[\w./-]+/gu) ?? [],
  );
  expect(files.length).toBeGreaterThan(10);
  for (const file of files) expect(existsSync(path.join(ROOT, file))).toBe(true);
});
