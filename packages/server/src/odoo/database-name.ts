/** Which names of databases are taken. */

/**
 * A PostgreSQL name of at most 63 bytes. Narrow on purpose: Odoo takes a `postgres://` address here and would connect to
 * it, and the name also goes into the X-Odoo-Database header.
 */
export const DATABASE_NAME = /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,62}$/;
