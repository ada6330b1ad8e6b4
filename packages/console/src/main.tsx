/** Entry of the console. */
import '@mantine/core/styles.css';
import './app/app.css';
import { createRoot } from 'react-dom/client';
import { App } from './app/app.tsx';

// Makes the address of the icon absolute: a browser would otherwise look for it below the folder of each later page.
const link = document.querySelector<HTMLLinkElement>('link[rel=icon]');
link?.setAttribute('href', link.href);

const root = document.getElementById('root');
if (root !== null) createRoot(root).render(<App />);
