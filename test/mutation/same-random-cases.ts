// Gives random tests the same cases in every run, so that a mutation score can be repeated.

import fc from 'fast-check';

fc.configureGlobal({ seed: 1 });
