/** Ends the evaluation of the modules that are imported together, before those that come after this one. */
throw new Error('The modules are linked.');

export type {};
