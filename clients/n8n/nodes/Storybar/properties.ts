// The form of the node.

import type { INodeProperties, INodePropertyOptions } from 'n8n-workflow';
import { CASES, COLOR_SPACES, FORMATS, HIGHLIGHTS, LIMITS, SAFE_AREAS, STYLE_PRESETS } from './lists.generated';

const WITH_FILE = ['captionImage', 'captionVideo'];
const WITH_CAPTIONS = [...WITH_FILE, 'overlayOnly'];

const APPS: Partial<Record<string, string>> = {
  all: 'All Apps',
  reels: 'Instagram Reels',
  shorts: 'YouTube Shorts',
  stories: 'Instagram Stories',
  tiktok: 'TikTok',
};
const FORMAT_NOTES: Partial<Record<string, string>> = {
  jpeg: 'A JPEG stays a JPEG without being compressed again',
  mp4: 'Videos, and animated GIFs',
};

const formats = FORMATS.map(({ title, value }) => {
  const description = FORMAT_NOTES[value];
  return { name: title, value, ...(description !== undefined && { description }) };
});
const colorSpaces = COLOR_SPACES.map((value) => ({ name: value === 'srgb' ? 'sRGB' : capitalize(value), value }));
const apps = SAFE_AREAS.map((value) => ({ name: APPS[value] ?? capitalize(value), value }));
const cases = CASES.map((value) => ({ name: capitalize(value), value }));
const highlights = HIGHLIGHTS.map((value) => ({ name: capitalize(value), value }));
const styles = STYLE_PRESETS.map((value) => ({ name: value.split('-').map(capitalize).join(', '), value }));

export const properties: INodeProperties[] = [
  {
    displayName: 'Operation',
    name: 'operation',
    type: 'options',
    noDataExpression: true,
    default: 'captionImage',
    options: [
      {
        name: 'Caption Image',
        value: 'captionImage',
        action: 'Put captions on an image',
        description: 'Put captions on a JPEG, PNG, WebP, HEIC, AVIF or GIF image',
      },
      {
        name: 'Caption Video',
        value: 'captionVideo',
        action: 'Put captions on a video',
        description: 'Put captions on an MP4, MOV, WebM or Matroska video',
      },
      {
        name: 'Get Render',
        value: 'getRender',
        action: 'Get an asynchronous render',
        description: 'Get the state and the result of an asynchronous render',
      },
      {
        name: 'Overlay Only',
        value: 'overlayOnly',
        action: 'Render captions alone',
        description: 'Render captions as a transparent PNG',
      },
    ],
  },
  {
    displayName: 'Source',
    name: 'source',
    type: 'options',
    default: 'binary',
    displayOptions: { show: { operation: WITH_FILE } },
    options: [
      { name: 'Binary Data', value: 'binary', description: 'A file from an earlier node' },
      { name: 'URL', value: 'url', description: 'A file that the Storybar server downloads' },
    ],
  },
  {
    displayName: 'Input Binary Field',
    name: 'binaryPropertyName',
    type: 'string',
    default: 'data',
    required: true,
    displayOptions: { show: { operation: WITH_FILE, source: ['binary'] } },
    description: 'Name of the binary field that holds the file',
  },
  {
    displayName: 'File URL',
    name: 'assetUrl',
    type: 'string',
    default: '',
    required: true,
    placeholder: 'https://example.com/photo.jpg',
    displayOptions: { show: { operation: WITH_FILE, source: ['url'] } },
    description: 'Public URL of the image or video',
  },
  {
    displayName: 'Width',
    name: 'width',
    type: 'number',
    default: 1080,
    displayOptions: { show: { operation: ['overlayOnly'] } },
    description: 'Width of the PNG in pixels',
  },
  {
    displayName: 'Height',
    name: 'height',
    type: 'number',
    default: 1920,
    displayOptions: { show: { operation: ['overlayOnly'] } },
    description: 'Height of the PNG in pixels',
  },
  {
    displayName: 'Captions',
    name: 'captions',
    type: 'options',
    default: 'text',
    displayOptions: { show: { operation: WITH_CAPTIONS } },
    options: [
      { name: 'One in the Middle', value: 'text' },
      { name: 'Several or With Positions', value: 'overlays' },
      {
        name: 'Subtitles or Transcript (Videos)',
        value: 'subtitles',
        description: 'SRT, WebVTT, or the JSON of a speech-to-text service',
      },
    ],
  },
  {
    displayName: 'Text',
    name: 'text',
    type: 'string',
    typeOptions: { rows: 2 },
    default: '',
    required: true,
    displayOptions: { show: { operation: WITH_CAPTIONS, captions: ['text'] } },
    description: `Up to ${LIMITS.MAX_TEXT_GRAPHEMES} characters. Line breaks are kept.`,
  },
  {
    displayName: 'Subtitles',
    name: 'subtitles',
    type: 'string',
    typeOptions: { rows: 4 },
    default: '',
    required: true,
    displayOptions: { show: { operation: WITH_CAPTIONS, captions: ['subtitles'] } },
    description: `Content of an SRT or WebVTT file of up to ${LIMITS.MAX_CUES} cues, or JSON of OpenAI, whisper.cpp, Deepgram, AssemblyAI or ElevenLabs`,
  },
  {
    displayName: 'Overlays',
    name: 'overlays',
    type: 'fixedCollection',
    typeOptions: { multipleValues: true },
    default: {},
    placeholder: 'Add Caption',
    displayOptions: { show: { operation: WITH_CAPTIONS, captions: ['overlays'] } },
    options: [
      {
        displayName: 'Overlay',
        name: 'overlay',
        values: [
          {
            displayName: 'Text',
            name: 'text',
            type: 'string',
            default: '',
            description: `Up to ${LIMITS.MAX_TEXT_GRAPHEMES} characters. Line breaks are kept.`,
          },
          {
            displayName: 'Position',
            name: 'position',
            type: 'number',
            typeOptions: { minValue: -1, maxValue: 100 },
            default: -1,
            description: 'Center of the bar in percent of the height, from 0 (top) to 100. -1 chooses it by the order.',
          },
        ],
      },
    ],
  },
  {
    displayName: 'Render ID',
    name: 'renderId',
    type: 'string',
    default: '',
    required: true,
    displayOptions: { show: { operation: ['getRender'] } },
    description: 'The ID of an asynchronous render',
  },
  {
    displayName: 'Wait (Seconds)',
    name: 'waitSeconds',
    type: 'number',
    typeOptions: { minValue: 0, maxValue: 60 },
    default: 20,
    displayOptions: { show: { operation: ['getRender'] } },
    description: 'How long to wait for the render to end',
  },
  {
    displayName: 'Download Result',
    name: 'download',
    type: 'boolean',
    default: true,
    displayOptions: { show: { operation: ['getRender'] } },
    description: 'Whether to download the file once the render has succeeded',
  },
  {
    displayName: 'Put Output File in Field',
    name: 'outputPropertyName',
    type: 'string',
    default: 'data',
    required: true,
    hint: 'The name of the output binary field to put the file in',
  },
  {
    displayName: 'Options',
    name: 'options',
    type: 'collection',
    default: {},
    placeholder: 'Add option',
    displayOptions: { show: { operation: WITH_CAPTIONS } },
    options: [
      {
        displayName: 'Asynchronous',
        name: 'asynchronous',
        type: 'boolean',
        default: false,
        description: 'Whether to return at once with the ID of the render, for the Get Render operation or the trigger',
      },
      {
        displayName: 'Case',
        name: 'case',
        type: 'options',
        default: 'none',
        options: byName(cases),
        description: 'Letters of the captions: as written, or all in capitals',
      },
      {
        displayName: 'Color Space',
        name: 'colorSpace',
        type: 'options',
        default: 'source',
        options: colorSpaces,
        description: 'Color space of a JPEG that stays a JPEG: that of its color profile, or sRGB',
      },
      {
        displayName: 'Format',
        name: 'format',
        type: 'options',
        default: 'png',
        options: byName(formats),
        description: 'Format of the finished file. Default: PNG for images, MP4 for videos.',
      },
      {
        displayName: 'Highlight',
        name: 'highlight',
        type: 'options',
        default: 'none',
        options: byName(highlights),
        description: 'How the word that is being spoken stands out, with subtitles or a transcript',
      },
      {
        displayName: 'Language',
        name: 'lang',
        type: 'string',
        default: '',
        placeholder: 'ja',
        description: 'Language of the captions as a BCP 47 tag',
      },
      {
        displayName: 'Lines Per Page',
        name: 'maxLines',
        type: 'number',
        typeOptions: { minValue: 1, maxValue: LIMITS.MAX_PAGE_LINES },
        default: 2,
        description: 'The most lines of a page of subtitles or a transcript',
      },
      {
        displayName: 'Put URL',
        name: 'putUrl',
        type: 'string',
        typeOptions: { password: true },
        default: '',
        placeholder: 'https://my-bucket.s3.amazonaws.com/captioned.jpg?X-Amz-...',
        description: 'Presigned URL of your bucket that gets the finished file, which is not returned then',
      },
      {
        displayName: 'Quality',
        name: 'quality',
        type: 'number',
        typeOptions: { minValue: 1, maxValue: 100 },
        default: 90,
        description: 'Quality of JPEG and WebP images',
      },
      {
        displayName: 'Return a Link',
        name: 'link',
        type: 'boolean',
        default: false,
        description: 'Whether to return a link to the finished file instead of the file, as AI agents need it',
      },
      {
        displayName: 'Safe Area',
        name: 'safeArea',
        type: 'options',
        default: 'none',
        options: byName(apps),
        description: "Keeps captions clear of an app's own controls, on portrait files of 9:16",
      },
      {
        displayName: 'Strict',
        name: 'strict',
        type: 'boolean',
        default: false,
        description: 'Whether warnings about the captions are an error, before anything is rendered or charged',
      },
      {
        displayName: 'Style',
        name: 'style',
        type: 'options',
        default: 'bar',
        options: byName(styles),
        description: 'Look of the captions',
      },
      {
        displayName: 'Words Per Page',
        name: 'maxWords',
        type: 'number',
        typeOptions: { minValue: 1, maxValue: LIMITS.MAX_PAGE_WORDS },
        default: 4,
        description: 'The most words of a page of subtitles or a transcript',
      },
    ],
  },
];

function capitalize(word: string): string {
  return `${word.charAt(0).toUpperCase()}${word.slice(1)}`;
}

/** n8n shows options in the order of their names. */
function byName(options: readonly INodePropertyOptions[]): INodePropertyOptions[] {
  return [...options].sort((a, b) => a.name.localeCompare(b.name));
}
