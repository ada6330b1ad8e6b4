/** The route that all pages are below: it draws the frame around them. */
import { createRootRoute } from '@tanstack/react-router';
import { Frame } from './frame.tsx';

export const rootRoute = createRootRoute({ component: Frame });
