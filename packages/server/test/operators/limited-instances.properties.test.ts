/**
 * Instances, connections of persons, and the state of the proxy, for an operator who is limited to the instances of
 * one customer.
 */
import { testLimited } from './limited.ts';

testLimited('instances');
