/** Files in binary fields: download and upload. */
export { download } from './download.ts';
export { upload } from './upload.ts';
