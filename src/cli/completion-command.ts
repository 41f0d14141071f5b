// `storybar completion <shell>` prints a script that completes commands, their actions and their options. What can be completed is
// what the help of each command shows, so the script never knows more or less than the help.

import { UsageError } from './exit-codes.ts';
import { didYouMean, HELP_OPTION, readCommand } from './parse-options.ts';

type Commands = Readonly<Record<string, { readonly run: (args: string[]) => Promise<void> }>>;

interface Words {
  readonly command: string;
  readonly actions: readonly string[];
  readonly options: readonly string[];
}

const COMMAND = {
  name: 'completion',
  usages: ['<bash | zsh | fish>'],
  help: `Prints a script that completes commands, actions and options with the Tab key:

  bash: storybar completion bash > ~/.local/share/bash-completion/completions/storybar
  zsh:  storybar completion zsh > "\${fpath[1]}/_storybar"
  fish: storybar completion fish > ~/.config/fish/completions/storybar.fish`,
  options: { help: HELP_OPTION },
} as const;

const SCRIPTS: Readonly<Record<string, (words: readonly Words[]) => string>> = { bash, zsh, fish };

export async function completionCommand(args: string[], commands: Commands): Promise<void> {
  const read = readCommand(COMMAND, args.length === 0 ? ['--help'] : args);
  if (read === undefined) return;
  const [shell = ''] = read.positionals;
  const script = Object.hasOwn(SCRIPTS, shell) ? SCRIPTS[shell] : undefined;
  if (script === undefined) {
    throw new UsageError(`unknown shell "${shell}"${didYouMean(shell, Object.keys(SCRIPTS))}`);
  }
  const words: Words[] = [];
  for (const [command, { run }] of Object.entries(commands)) {
    words.push(wordsOf(command, await outputOf(async () => await run(['--help']))));
  }
  process.stdout.write(script(words));
}

/** What a command writes to standard output. */
async function outputOf(run: () => Promise<void>): Promise<string> {
  const write = process.stdout.write.bind(process.stdout);
  let text = '';
  process.stdout.write = (chunk: string | Uint8Array): boolean => {
    text += String(chunk);
    return true;
  };
  try {
    await run();
  } finally {
    process.stdout.write = write;
  }
  return text;
}

function wordsOf(command: string, help: string): Words {
  const options = [...help.matchAll(/(?<![\w-])--[a-z][a-z-]*/gu)].map(([option]) => option);
  const actions = [...help.matchAll(new RegExp(`storybar ${command} (?<action>[a-z][a-z-]*)`, 'gu'))].map(
    ({ groups }) => groups?.['action'] ?? '',
  );
  return { command, actions: unique(actions), options: unique([...options, '--help']) };
}

function unique(words: readonly string[]): string[] {
  return [...new Set(words)];
}

function bash(words: readonly Words[]): string {
  const cases = words.map(
    ({ command, actions, options }) =>
      `    ${command}) words="${options.join(' ')}"; [[ $COMP_CWORD -eq 2 ]] && words="${actions.join(' ')} $words" ;;`,
  );
  return `_storybar() {
  local current="\${COMP_WORDS[COMP_CWORD]}" words=""
  case "\${COMP_WORDS[1]}" in
${cases.join('\n')}
  esac
  [[ $COMP_CWORD -eq 1 ]] && words="${words.map(({ command }) => command).join(' ')} --help --version"
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _storybar storybar
`;
}

function zsh(words: readonly Words[]): string {
  const cases = words.map(
    ({ command, actions, options }) =>
      `    ${command}) words=(${options.join(' ')}); (( CURRENT == 3 )) && words=(${actions.join(' ')} $words) ;;`,
  );
  return `#compdef storybar
_storybar() {
  local -a words_of words
  words_of=("\${(@)words}")
  words=()
  case "\${words_of[2]}" in
${cases.join('\n')}
  esac
  (( CURRENT == 2 )) && words=(${words.map(({ command }) => command).join(' ')} --help --version)
  compadd -a words
  [[ $PREFIX == -* ]] || _files
}
compdef _storybar storybar
`;
}

function fish(words: readonly Words[]): string {
  const lines = words.flatMap(({ command, actions, options }) => [
    `complete -c storybar -n __fish_use_subcommand -f -a ${command}`,
    ...actions.map((action) => `complete -c storybar -n '__fish_seen_subcommand_from ${command}' -a ${action}`),
    ...options.map(
      (option) => `complete -c storybar -n '__fish_seen_subcommand_from ${command}' -l ${option.slice(2)}`,
    ),
  ]);
  return `${lines.join('\n')}\n`;
}
