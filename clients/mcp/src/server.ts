// The tools of the server.

import { type CallToolResult, McpServer, type ServerContext } from '@modelcontextprotocol/server';
import { type CaptionRequest, Storybar } from '@storybar/client';
import * as z from 'zod';
import packageJson from '../package.json' with { type: 'json' };
import { allowedFile } from './files.ts';
import { HIGHLIGHTS, IMAGE_FORMATS, LIMITS, SAFE_AREAS, STYLE_PRESETS } from './lists.generated.ts';
import { orExplain, saveResult } from './results.ts';
import type { Settings } from './settings.ts';

const OVERLAYS = z
  .array(
    z.object({
      text: z.string().describe(`Caption, up to ${LIMITS.MAX_TEXT_GRAPHEMES} characters.`),
      position: z
        .number()
        .min(0)
        .max(100)
        .optional()
        .describe('Center of the bar in percent of the height; 0 is the top.'),
    }),
  )
  .min(1)
  .max(LIMITS.MAX_OVERLAYS);

const CAPTIONS = {
  text: z.string().optional().describe('One caption in the middle. Use this or `overlays`.'),
  overlays: OVERLAYS.optional().describe('Several captions, or captions with positions. Use this or `text`.'),
  lang: z.string().optional().describe('Language of the captions as a BCP 47 tag, such as ja or zh-Hant.'),
  style: z.enum(STYLE_PRESETS).optional().describe('Look. Default: bar.'),
  safe_area: z
    .enum(SAFE_AREAS)
    .optional()
    .describe("Keeps captions clear of an app's own controls, on portrait files of 9:16."),
};

const IMAGE_OUTPUT = {
  format: z.enum(IMAGE_FORMATS).optional().describe('Format of the result. Default: png.'),
};

const SUBTITLES = {
  captions: z
    .string()
    .max(LIMITS.MAX_CAPTIONS_BYTES)
    .optional()
    .describe(
      'Content of an SRT or WebVTT file, or the JSON that a speech-to-text service returned. Use this, `text` or `overlays`.',
    ),
  highlight: z.enum(HIGHLIGHTS).optional().describe('How the word of `captions` that is being spoken stands out.'),
  max_words: z
    .number()
    .int()
    .min(1)
    .max(LIMITS.MAX_PAGE_WORDS)
    .optional()
    .describe('The most words of `captions` that are shown at a time.'),
  max_lines: z
    .number()
    .int()
    .min(1)
    .max(LIMITS.MAX_PAGE_LINES)
    .optional()
    .describe('The most lines of `captions` that are shown at a time.'),
};

const SOURCE = {
  file: z.string().optional().describe('Path of the file inside the allowed folder. Use this or `url`.'),
  url: z
    .url({ protocol: /^https?$/u })
    .optional()
    .describe('Public http or https URL of the file. Use this or `file`.'),
};

const RESULT = z.object({
  file: z.string(),
  content_type: z.string(),
  bytes: z.number(),
  warnings: z.array(z.string()),
  credits_charged: z.number(),
  credits_remaining: z.number(),
});

type CaptionArguments = z.infer<z.ZodObject<typeof CAPTIONS & typeof SOURCE>> &
  Partial<z.infer<z.ZodObject<typeof IMAGE_OUTPUT & typeof SUBTITLES>>>;

export function createServer({ baseUrl, apiKey, directory }: Settings): McpServer {
  const storybar = new Storybar({ baseUrl, apiKey });
  const server = new McpServer(
    { name: 'storybar', version: packageJson.version },
    { instructions: `Puts caption bars on photos and videos. Files are read from and saved to ${directory}.` },
  );

  const caption = async (args: CaptionArguments, context: ServerContext): Promise<CallToolResult> =>
    await orExplain(async () => {
      const { file, url, highlight, ...captions } = args;
      const source =
        file === undefined ? { asset_url: url } : { asset: await allowedFile(directory, file), asset_url: url };
      const style =
        highlight === undefined ? captions.style : { ...(captions.style && { preset: captions.style }), highlight };
      const render = await storybar.caption(withoutUndefined({ ...captions, style, ...source }), {
        signal: context.mcpReq.signal,
      });
      return await saveResult(render, directory);
    });

  server.registerTool(
    'caption_image',
    {
      title: 'Caption an image',
      description:
        'Puts caption bars on a JPEG, PNG, WebP, HEIC, AVIF or GIF image and saves it. Costs 1 credit. The image is part of the result if ' +
        'it is small; otherwise the result links to the saved file.',
      inputSchema: z.object({ ...SOURCE, ...CAPTIONS, ...IMAGE_OUTPUT }),
      outputSchema: RESULT,
      annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: true },
    },
    caption,
  );
  server.registerTool(
    'caption_video',
    {
      title: 'Caption a video',
      description:
        'Puts caption bars on an MP4, MOV, WebM or Matroska video, saves an MP4 and links to it. Costs 1 credit per started ' +
        '5 seconds and can take a few minutes.',
      inputSchema: z.object({ ...SOURCE, ...CAPTIONS, ...SUBTITLES }),
      outputSchema: RESULT,
      annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: true },
    },
    caption,
  );
  registerFreeTools(server, storybar);
  return server;
}

function registerFreeTools(server: McpServer, storybar: Storybar): void {
  server.registerTool(
    'preview_layout',
    {
      title: 'Preview a layout',
      description:
        'Shows where captions would go on an image or video of a size, with line breaks, warnings and price. Free.',
      inputSchema: z.object({
        width: z.number().int().min(LIMITS.MIN_SIDE).max(LIMITS.MAX_SIDE),
        height: z.number().int().min(LIMITS.MIN_SIDE).max(LIMITS.MAX_SIDE),
        text: CAPTIONS.text,
        overlays: CAPTIONS.overlays,
        style: CAPTIONS.style,
        safe_area: CAPTIONS.safe_area,
        duration: z.number().positive().optional().describe('Seconds of a video, for its price.'),
      }),
      annotations: { readOnlyHint: true, openWorldHint: false },
    },
    async (args, context) =>
      await orExplain(async () =>
        asJson(await storybar.layout(withoutUndefined(args), { signal: context.mcpReq.signal })),
      ),
  );
  server.registerTool(
    'read_usage',
    {
      title: 'Read usage',
      description: 'Plan, limits, credits left, and renders per day. Free.',
      inputSchema: z.object({
        from: z.iso.date().optional().describe('First day, such as 2026-03-01. Default: start of the billing period.'),
        to: z.iso.date().optional().describe('Last day. Default: today.'),
      }),
      annotations: { readOnlyHint: true, openWorldHint: false },
    },
    async (args, context) =>
      await orExplain(async () =>
        asJson(await storybar.usage({ ...withoutUndefined(args), signal: context.mcpReq.signal })),
      ),
  );
}

function asJson(value: object): CallToolResult {
  return { content: [{ type: 'text', text: JSON.stringify(value) }], structuredContent: { ...value } };
}

type Defined<Fields> = { [Name in keyof Fields]: Exclude<Fields[Name], undefined> };

function withoutUndefined<Fields extends object>(fields: Fields): Defined<Fields> & CaptionRequest {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Defined<Fields>;
}
