import { describe, expect, it } from 'vitest';
import { Reporter } from './reporter.ts';

function written(isTTY: boolean, isQuiet: boolean, use: (reporter: Reporter) => void): string {
  let text = '';
  const write = (chunk: string | Uint8Array): boolean => {
    text += String(chunk);
    return true;
  };
  use(new Reporter({ isTTY, write }, isQuiet));
  return text;
}

describe('the progress of storybar send', () => {
  it('progress is a bar on a terminal, which the next line replaces', () => {
    const text = written(true, false, (reporter) => {
      reporter.progress('Rendering', 0.5);
      reporter.note('Done');
    });
    expect(text).toBe(`\r\u001b[K${'█'.repeat(15)}${'░'.repeat(15)} 50 %  Rendering\r\u001b[KDone\n`);
  });

  it('is one line per stage elsewhere', () => {
    const text = written(false, false, (reporter) => {
      for (let percent = 0; percent <= 100; percent += 1) reporter.progress('Uploading a.mp4', percent / 100);
      reporter.progress('Waiting in the queue', 0);
      reporter.progress('Waiting in the queue', 0);
      reporter.progress('Rendering', 0.02);
      reporter.clear();
    });
    expect(text).toBe('Uploading a.mp4\nWaiting in the queue\nRendering\n');
  });

  it('--json prints no progress, not even on a terminal', () => {
    const text = written(true, true, (reporter) => {
      reporter.progress('Rendering', 0.5);
      reporter.note('Done');
      reporter.clear();
    });
    expect(text).toBe('');
  });
});
