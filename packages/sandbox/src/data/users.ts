/** The two users of the sandbox. Their keys are fixed and not secret, because they work in a sandbox only. */
export const database = 'sandbox';

export const users = {
  admin: { userId: 2, login: 'admin', password: 'admin', apiKey: '5a17b0c5ad0e1111111111111111111111111111' },
  demo: { userId: 8, login: 'demo', password: 'demo', apiKey: '5a17b0c5de302222222222222222222222222222' },
} as const;
