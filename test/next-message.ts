import type { ChildProcess } from 'node:child_process';

/** Resolves with the next message of a child process, and fails if the process ends without one. */
export async function nextMessage<Message>(child: ChildProcess): Promise<Message> {
  return await new Promise((resolve, reject) => {
    const onExit = (code: number | null, signal: NodeJS.Signals | null): void => {
      reject(new Error(`the process ended with ${code ?? signal} and without a message`));
    };
    child.once('exit', onExit);
    child.once('message', (message) => {
      child.off('exit', onExit);
      resolve(message as Message);
    });
  });
}
