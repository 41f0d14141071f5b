// The decoders that may run. This is an allowlist: FFmpeg decodes several hundred formats, and an attacker needs a
// vulnerability in only one of them. It is separate from codecs.ts, so that the server can check names without loading
// FFmpeg.

/** Maps FFmpeg's codec names to the decoders to use, best first. */
export const VIDEO_DECODERS: Readonly<Record<string, readonly string[]>> = {
  h264: ['h264'],
  hevc: ['hevc'],
  av1: ['libdav1d'],
  vp8: ['vp8'],
  vp9: ['vp9'],
  mpeg4: ['mpeg4'],
  h263: ['h263'],
  mpeg1video: ['mpeg1video'],
  mpeg2video: ['mpeg2video'],
  mjpeg: ['mjpeg'],
  prores: ['prores'],
  dnxhd: ['dnxhd'],
  qtrle: ['qtrle'],
  png: ['png'],
  gif: ['gif'],
  webp_anim: ['webp_anim'],
  rawvideo: ['rawvideo'],
  v210: ['v210'],
};

/** Only these decoders read the alpha layer of a WebM. */
export const ALPHA_DECODERS: Readonly<Record<string, readonly string[]>> = { vp8: ['libvpx'], vp9: ['libvpx-vp9'] };

export const AUDIO_DECODERS: Readonly<Record<string, readonly string[]>> = {
  aac: ['aac'],
  mp3: ['mp3float'],
  mp2: ['mp2float'],
  opus: ['opus'],
  vorbis: ['vorbis'],
  flac: ['flac'],
  alac: ['alac'],
  ac3: ['ac3'],
  eac3: ['eac3'],
  amr_nb: ['amrnb'],
  amr_wb: ['amrwb'],
  adpcm_ima_qt: ['adpcm_ima_qt'],
  ...Object.fromEntries(
    'alaw mulaw u8 s8 s16le s16be s24le s24be s32le s32be f32le f32be f64le f64be'
      .split(' ')
      .map((layout) => [`pcm_${layout}`, [`pcm_${layout}`]]),
  ),
};

export const ALLOWED_DECODERS: readonly string[] = [VIDEO_DECODERS, ALPHA_DECODERS, AUDIO_DECODERS].flatMap((table) =>
  Object.values(table).flat(),
);
