// The tools of the server.

import { type CallToolResult, McpServer } from '@modelcontextprotocol/server';
import { Storybar } from '@storybar/client';
import packageJson from '../package.json' with { type: 'json' };
import { Captioning } from './captioning.ts';
import { IMAGE_INPUT, LAYOUT_INPUT, RENDER_INPUT, USAGE_INPUT, VIDEO_INPUT } from './inputs.ts';
import { FINISHED, FINISHED_OR_RENDERING, orExplain } from './results.ts';
import type { Settings } from './settings.ts';

const SPENDS = { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: true };
const READS = { readOnlyHint: true, openWorldHint: false };

/** Over HTTP, every request gets a server of its own, and all of them share what a process has to remember. */
export function serverFactory({ baseUrl, apiKey, directory, waitSeconds }: Settings): () => McpServer {
  const storybar = new Storybar({ baseUrl, apiKey });
  const captioning = new Captioning({ storybar, directory, waitSeconds });
  const instructions = `Puts caption bars on photos and videos. Files are read from and saved to ${directory}.`;
  return () => {
    const server = new McpServer({ name: 'storybar', version: packageJson.version }, { instructions });
    registerCaptionTools(server, captioning);
    registerFreeTools(server, storybar);
    return server;
  };
}

function registerCaptionTools(server: McpServer, captioning: Captioning): void {
  server.registerTool(
    'caption_image',
    {
      title: 'Caption an image',
      description:
        'Puts caption bars on a JPEG, PNG, WebP, HEIC, AVIF or GIF image and saves it. Costs 1 credit. The image is part of the result if ' +
        'it is small; otherwise the result links to the saved file.',
      inputSchema: IMAGE_INPUT,
      outputSchema: FINISHED,
      annotations: SPENDS,
    },
    async (args, context) => await orExplain(async () => await captioning.image(args, context)),
  );
  server.registerTool(
    'caption_video',
    {
      title: 'Caption a video',
      description:
        'Puts caption bars on an MP4, MOV, WebM or Matroska video, saves an MP4 and links to it. Costs 1 credit per started ' +
        '5 seconds. Long videos take minutes: if the result has no file yet, call get_video with its render_id.',
      inputSchema: VIDEO_INPUT,
      outputSchema: FINISHED_OR_RENDERING,
      annotations: SPENDS,
    },
    async (args, context) => await orExplain(async () => await captioning.video(args, context)),
  );
  server.registerTool(
    'get_video',
    {
      title: 'Get a captioned video',
      description: 'Waits for a video that caption_video started, saves it and links to it. Costs nothing more.',
      inputSchema: RENDER_INPUT,
      outputSchema: FINISHED_OR_RENDERING,
      annotations: { ...SPENDS, idempotentHint: true },
    },
    async ({ id }, context) => await orExplain(async () => await captioning.finish(id, context)),
  );
}

function registerFreeTools(server: McpServer, storybar: Storybar): void {
  server.registerTool(
    'preview_layout',
    {
      title: 'Preview a layout',
      description:
        'Shows where captions would go on an image or video of a size, with line breaks, warnings and price. Free.',
      inputSchema: LAYOUT_INPUT,
      annotations: READS,
    },
    async (args, { mcpReq }) =>
      await orExplain(async () => asJson(await storybar.layout(args, { signal: mcpReq.signal }))),
  );
  server.registerTool(
    'read_usage',
    {
      title: 'Read usage',
      description: 'Plan, limits, credits left, and renders per day. Free.',
      inputSchema: USAGE_INPUT,
      annotations: READS,
    },
    async (args, { mcpReq }) =>
      await orExplain(async () => asJson(await storybar.usage({ ...args, signal: mcpReq.signal }))),
  );
}

function asJson(value: object): CallToolResult {
  return { content: [{ type: 'text', text: JSON.stringify(value) }], structuredContent: { ...value } };
}
