package console

import "github.com/go-chi/chi/v5"

// Each of these is to be replaced by the file of its pages.
func (x *console) executionRoutes(chi.Router) {}
func (x *console) secretRoutes(chi.Router)    {}
func (x *console) sessionRoutes(chi.Router)   {}
func (x *console) scheduleRoutes(chi.Router)  {}
