// Must be imported before the canvas library, which reads this variable when it loads. Fonts of the host must never
// appear in a caption, or the same request would look different on every machine.

process.env['DISABLE_SYSTEM_FONTS_LOAD'] = '1';
