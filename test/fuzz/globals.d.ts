// Set by `instrument.js`.

/** How often each branch of the code under test was taken. */
declare var fuzzCounters: Uint32Array;
/** How many of the counters are used so far. */
declare var fuzzBranches: number;
/** The string and number literals of the code under test. */
declare var fuzzLiterals: (string | number)[];
