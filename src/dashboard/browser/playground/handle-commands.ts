import { find } from '../elements.ts';
import type { BarList } from './bar-list.ts';
import type { HandleCommand } from './handle.ts';
import type { Stage } from './stage.ts';

interface Editor {
  readonly stage: Stage;
  readonly list: BarList;
  /** A multiple of the default font size. */
  readonly size: number;
  readonly root: HTMLElement;
}

/** Carries out what the visitor asked for at the handle of a caption. */
export function runCommand(id: string, command: HandleCommand, { stage, list, size, root }: Editor): void {
  switch (command) {
    case 'edit':
      stage.edit(id, list.textOf(id), { size });
      break;
    case 'duplicate':
      list.duplicate(id);
      break;
    case 'remove':
      list.remove(id);
      find(root, '[data-add]', HTMLButtonElement).focus();
      break;
  }
}
