/** The names of databases that are accepted. */

/**
 * A PostgreSQL name of at most 63 bytes. The pattern is strict because Odoo would connect to a `postgres://` address
 * given here, and because the name is sent in the X-Odoo-Database header.
 */
export const DATABASE_NAME = /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,62}$/;
