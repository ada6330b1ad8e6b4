/** Notifications of messages: a model without `create_date` and `write_date` (`_log_access = False`). */
import { boolean, datetime, many2one, selection } from '../orm/field.ts';
import type { ModelSpec } from '../orm/model.ts';

export const notification: ModelSpec = {
  name: 'mail.notification',
  description: 'Message Notifications',
  order: 'id',
  logAccess: false,
  recName: 'res_partner_id',
  access: { write: ['base.group_system'], create: ['base.group_system'], unlink: ['base.group_system'] },
  fields: {
    mail_message_id: many2one('Message', 'mail.message', { required: true, ondelete: 'cascade' }),
    res_partner_id: many2one('Recipient', 'res.partner', { ondelete: 'cascade' }),
    notification_type: selection(
      'Notification Type',
      [
        ['inbox', 'Inbox'],
        ['email', 'Email'],
      ],
      { required: true, default: 'inbox' },
    ),
    is_read: boolean('Is Read'),
    read_date: datetime('Read Date', { copy: false }),
  },
};
