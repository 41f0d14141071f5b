// The form of the node: its fields, and the options of operations that make a file.

import type { INodeProperties, INodePropertyOptions } from 'n8n-workflow';
import { fields } from './fields';
import {
  CASES,
  COLOR_SPACES,
  FIT_MODES,
  FONTS,
  FORMATS,
  HIGHLIGHTS,
  LIMITS,
  SAFE_AREAS,
  STYLE_PRESETS,
} from './lists.generated';

const WITH_FILE = ['captionImage', 'captionVideo', 'startBatch'];
const WITH_OUTPUT = [...WITH_FILE, 'overlayOnly', 'overlayVideo'];

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
const fitModes = FIT_MODES.map((value) => ({ name: capitalize(value), value }));
const highlights = HIGHLIGHTS.map((value) => ({ name: capitalize(value), value }));
export const presets: INodePropertyOptions[] = STYLE_PRESETS.map((value) => ({
  name: value.split('-').map(capitalize).join(', '),
  value,
}));

export const fonts: INodePropertyOptions[] = FONTS.map((value) => ({
  name: value.split('-').map(capitalize).join(' '),
  value,
}));

export const properties: INodeProperties[] = [
  ...fields,
  {
    displayName: 'Options',
    name: 'options',
    type: 'collection',
    default: {},
    placeholder: 'Add option',
    displayOptions: { show: { operation: WITH_OUTPUT } },
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
        displayName: 'Cover at (Seconds)',
        name: 'at',
        type: 'number',
        typeOptions: { minValue: 0 },
        default: 0,
        displayOptions: { show: { '/operation': ['captionVideo', 'startBatch'] } },
        description: 'The result is an image of this frame of the video, with the captions it shows',
      },
      {
        displayName: 'Fit',
        name: 'fit',
        type: 'options',
        default: 'blur',
        options: byName(fitModes),
        displayOptions: { show: { '/operation': WITH_FILE } },
        description: 'How the file gets the size of Fit Width and Fit Height',
      },
      {
        displayName: 'Fit Height',
        name: 'fitHeight',
        type: 'number',
        typeOptions: { minValue: LIMITS.MIN_SIDE, maxValue: LIMITS.MAX_SIDE },
        default: 1920,
        displayOptions: { show: { '/operation': WITH_FILE } },
        description: 'Height of the finished file in pixels, with Fit',
      },
      {
        displayName: 'Fit Width',
        name: 'fitWidth',
        type: 'number',
        typeOptions: { minValue: LIMITS.MIN_SIDE, maxValue: LIMITS.MAX_SIDE },
        default: 1080,
        displayOptions: { show: { '/operation': WITH_FILE } },
        description: 'Width of the finished file in pixels, with Fit',
      },
      {
        displayName: 'Font Name or ID',
        name: 'font',
        type: 'options',
        default: 'inter',
        typeOptions: { loadOptionsMethod: 'getFonts' },
        description:
          'Font of the captions, or one that your account uploaded. Choose from the list, or specify an ID using an <a href="https://docs.n8n.io/code/expressions/">expression</a>.',
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
        displayName: 'Max Bytes',
        name: 'maxBytes',
        type: 'number',
        typeOptions: { minValue: LIMITS.MIN_BYTES },
        default: 8000000,
        displayOptions: { show: { '/operation': WITH_FILE } },
        description: 'The most bytes of a JPEG, WebP or MP4, which has the best quality that fits',
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
        displayName: 'Style Name or ID',
        name: 'style',
        type: 'options',
        default: 'bar',
        typeOptions: { loadOptionsMethod: 'getStyles' },
        description:
          'Look of the captions: a preset, or a style that your account saved. Choose from the list, or specify an ID using an <a href="https://docs.n8n.io/code/expressions/">expression</a>.',
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
