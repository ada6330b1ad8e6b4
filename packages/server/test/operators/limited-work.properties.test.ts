/** Subscriptions and approvals, for an operator who is limited to the instances of one customer. */
import { testLimited } from './limited.ts';

testLimited('work');
