/** Entry of the console. */
import '@mantine/core/styles.css';
import './app/app.css';
import { createRoot } from 'react-dom/client';
import { App } from './app/app.tsx';

const root = document.getElementById('root');
if (root !== null) createRoot(root).render(<App />);
