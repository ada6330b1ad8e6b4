/** The OpenAPI document, and its examples. */
export { EXECUTE_EXAMPLES } from './call-examples.ts';
export { EXPORT_EXAMPLE, FLEET_EXAMPLE } from './data-schemas.ts';
export { renderOpenapi } from './openapi.ts';
