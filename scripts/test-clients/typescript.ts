import { existsSync } from 'node:fs';
import path from 'node:path';
import { testInBrowser } from './browser.ts';
import { type Environment, inEmptyFolder, installAndTest, runPrograms } from './package.ts';

export async function testTypeScript(env: Environment): Promise<void> {
  await installAndTest('typescript', env);
  await inEmptyFolder('typescript', async (folder) => {
    const readmeEnv = {
      STORYBAR_URL: env['STORYBAR_TEST_URL'] ?? '',
      STORYBAR_API_KEY: env['STORYBAR_TEST_KEY'] ?? '',
    };
    await runPrograms('typescript', {
      language: 'js',
      extension: '.js',
      command: process.execPath,
      folder,
      env: readmeEnv,
    });
    if (!existsSync(path.join(folder, 'captioned.png'))) throw new Error('The README saved no captioned.png.');
    await testInBrowser(folder, env);
  });
}
