/** Replaces the Odoo keys of stored instances and of persons before they expire. */
export { type AskOdoo, createAskOdoo, type OdooAnswer, type Question } from './ask-odoo.ts';
export { checkKey } from './expiry.ts';
export {
  createKeyRotation,
  type DescribeKeyRotation,
  type KeyRotation,
  KeyRotationError,
  type KeyRotationEvent,
} from './key-rotation.ts';
export { describeKeyQuery, findExpiry, KEYS_MODEL, type OdooKey, readOdooKeys } from './odoo-keys.ts';
export {
  createPersonKeyRotation,
  type PersonKeyRotation,
} from './person-key-rotation.ts';
