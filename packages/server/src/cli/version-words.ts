/**
 * Arguments that ask for the version. It is printed before the commands are loaded, so that the answer is immediate.
 */
export const VERSION_WORDS: readonly string[] = ['--version', '-v', 'version'];
