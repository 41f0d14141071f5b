// Imported before the canvas library, which looks at this when it loads: fonts installed on the host must never appear in a
// caption, or the same request would look different from machine to machine.

process.env['DISABLE_SYSTEM_FONTS_LOAD'] = '1';
