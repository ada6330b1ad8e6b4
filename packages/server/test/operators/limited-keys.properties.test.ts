/**
 * Keys, policies, personal tokens, and calls of the playground, for an operator who is limited to the instances of one
 * customer.
 */
import { testLimited } from './limited.ts';

testLimited('keys');
