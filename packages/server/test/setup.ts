/** Runs before each test file: the hooks that all files have. */
import { afterAll, afterEach } from 'vitest';
import { closeOfFile, closeOfTest } from './close-after-test.ts';

afterEach(closeOfTest);
afterAll(closeOfFile);
