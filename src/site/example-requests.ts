// The example requests of the API reference. A test sends each of them in every language.

import { KEY_PLACEHOLDER, type SnippetRequest } from './browser/snippets.ts';

export interface ExampleRequest {
  readonly title: string;
  readonly description: string;
  readonly request: Omit<SnippetRequest, 'baseUrl'>;
}

/** A placeholder for the reader's own URL. */
export const EXAMPLE_URL = 'https://www.example.com/photo.jpg';
export const EXAMPLE_VIDEO_URL = 'https://www.example.com/clip.mp4';

export const EXAMPLE_REQUESTS: readonly ExampleRequest[] = [
  {
    title: 'One caption on a photo',
    description: 'The caption goes in the middle. The response is a PNG with the dimensions of the photo.',
    request: {
      key: KEY_PLACEHOLDER,
      asset: 'photo.jpg',
      overlays: [{ text: 'Golden hour, no filter needed 🌅' }],
      output: 'captioned.png',
    },
  },
  {
    title: 'Several captions',
    description: 'The first caption has an explicit position. The second one goes to its default position.',
    request: {
      key: KEY_PLACEHOLDER,
      asset: 'photo.jpg',
      overlays: [{ text: 'Day 12 🚐', position: 0 }, { text: "It's just us out here" }],
      output: 'captioned.png',
    },
  },
  {
    title: 'Video',
    description: 'Videos work the same way and come back as MP4.',
    request: {
      key: KEY_PLACEHOLDER,
      asset: 'clip.mp4',
      overlays: [{ text: 'Wait for it', position: 75 }],
      output: 'captioned.mp4',
    },
  },
  {
    title: 'File from a URL',
    description:
      'Instead of uploading the file, send its public URL in asset_url. Such a request can be JSON, which suits no-code tools.',
    request: {
      key: KEY_PLACEHOLDER,
      assetUrl: EXAMPLE_URL,
      overlays: [{ text: 'Golden hour', position: 20 }, { text: 'no filter needed 🌅' }],
      output: 'captioned.png',
    },
  },
  {
    title: 'Timed captions on a video from a URL',
    description: 'Each caption is shown from start until just before end, in seconds. See Times and subtitles.',
    request: {
      key: KEY_PLACEHOLDER,
      assetUrl: EXAMPLE_VIDEO_URL,
      overlays: [
        { text: 'Wait for it', end: 2.5 },
        { text: 'There!', start: 2.5, end: 4, position: 20 },
      ],
      output: 'captioned.mp4',
    },
  },
  {
    title: 'Overlay only',
    description:
      'Leave out the asset to get a transparent PNG. Composited over an image of that size, it matches the API’s own ' +
      'output pixel for pixel.',
    request: {
      key: KEY_PLACEHOLDER,
      size: { width: 1080, height: 1920 },
      overlays: [{ text: 'Golden hour' }],
      output: 'overlay.png',
    },
  },
];
