// The tools of the server.

import { type CallToolResult, McpServer } from '@modelcontextprotocol/server';
import { Storybar } from '@storybar/client';
import packageJson from '../package.json' with { type: 'json' };
import { Captioning, withLook } from './captioning.ts';
import {
  CAPTIONS_INPUT,
  IMAGE_INPUT,
  LAYOUT_INPUT,
  NO_INPUT,
  RENDER_INPUT,
  USAGE_INPUT,
  VIDEO_INPUT,
} from './inputs.ts';
import { orExplain, RESULT } from './results.ts';
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
      outputSchema: RESULT,
      annotations: SPENDS,
    },
    async (args, context) => await orExplain(async () => await captioning.image(args, context)),
  );
  server.registerTool(
    'caption_video',
    {
      title: 'Caption a video',
      description:
        'Puts caption bars on an MP4, MOV, WebM or Matroska video, saves an MP4, or with `at` a cover image, and links to it. Costs ' +
        '1 credit per started 5 seconds, and a cover usually 1 credit. Long videos take minutes: if the result has no file yet, call get_video with its render_id.',
      inputSchema: VIDEO_INPUT,
      outputSchema: RESULT,
      annotations: SPENDS,
    },
    async (args, context) => await orExplain(async () => await captioning.video(args, context)),
  );
  server.registerTool(
    'render_captions',
    {
      title: 'Render captions alone',
      description:
        'Renders caption bars without a photo or video: a transparent image, or with `duration` a transparent video for editors and ' +
        'web pages. Costs 1 credit, and a video 1 credit per started 5 seconds.',
      inputSchema: CAPTIONS_INPUT,
      outputSchema: RESULT,
      annotations: SPENDS,
    },
    async (args, context) => await orExplain(async () => await captioning.captions(args, context)),
  );
  server.registerTool(
    'get_video',
    {
      title: 'Get a captioned video',
      description: 'Waits for a render that another tool started, saves it and links to it. Costs nothing more.',
      inputSchema: RENDER_INPUT,
      outputSchema: RESULT,
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
      await orExplain(async () => asJson(await storybar.layout(withLook(args), { signal: mcpReq.signal }))),
  );
  server.registerTool(
    'list_styles',
    {
      title: 'List styles, fonts and logos',
      description:
        'The brand that the account saved: styles with their keys and versions, fonts and logos. Use the name of a style, such as acme or ' +
        'acme@3, as the `style` of a caption, and the id of a font or logo as its `font` or `logo`. Free.',
      inputSchema: NO_INPUT,
      annotations: READS,
    },
    async (_args, { mcpReq }) =>
      await orExplain(async () => {
        const { signal } = mcpReq;
        const [styles, fonts, logos] = await Promise.all([
          storybar.styles.list({ signal }),
          storybar.fonts.list({ signal }),
          storybar.logos.list({ signal }),
        ]);
        return asJson({ styles, fonts, logos });
      }),
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
