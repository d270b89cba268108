package main

import (
	"time"

	"rote/routine/lesson"
)

// lessonFlags configure the lessons of a server.
type lessonFlags struct {
	Lessons    number       `help:"Lessons, on which agents make routines, that may be open at once; 0: no lessons." default:"2"`
	LessonIdle duration     `help:"Time without a call after which a lesson ends." default:"10m"`
	LessonTime duration     `help:"Longest time that the page of a lesson stays open." default:"60m"`
	Secret     []secretFlag `help:"Secret for lessons: [[ORGANIZATION/]PROJECT/]NAME@HOST[,HOST]=FILE. Repeatable." placeholder:"SECRET" sep:"none"`
}

// maxLessonsPerUser limits the open lessons of one user of a server with many.
const maxLessonsPerUser = 2

// open makes the lessons of a, unless they are off.
func (f *lessonFlags) open(a *app, g *globals, perOwner int) error {
	secrets, err := readSecrets(f.Secret, g)
	if err != nil || f.Lessons == 0 {
		return err
	}
	a.openLessons(lesson.Config{Max: int(f.Lessons), MaxPerOwner: perOwner,
		Idle: time.Duration(f.LessonIdle), Total: time.Duration(f.LessonTime), Secrets: secrets})
	return nil
}
