/** The error for a record that does not exist. Some versions of Odoo raise it, and others return an empty list. */
import { classifyFault } from '@erp-proxy/odoo/faults';

export const MISSING_RECORD = classifyFault(
  {
    code: 200,
    message: 'Odoo Server Error',
    data: {
      name: 'odoo.exceptions.MissingError',
      message: 'Record does not exist or has been deleted.',
      arguments: ['Record does not exist or has been deleted.'],
      context: {},
    },
  },
  { debug: false, secrets: [] },
);
